"""Months of a life, lived day by day: what was kept, minimized, archived and shaped, and why.

A script says what happens on each day, a world lives it through the engine's own functions, a
chronicle holds what was seen of it; stories and a figure are made of the chronicle alone.
"""
