"""The scheduled door: a Celery app, its timetable, and the jobs."""
