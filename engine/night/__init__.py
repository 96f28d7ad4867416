"""The night: what is done to a persona's memory, one stage after another.

A run is one night, or one hour's fading, of one persona. It is a chain of steps; each step is one
transaction that does its part and writes down, in the same breath, what it did and what was there
before. So a run can be read, taken up where it stopped, rehearsed, and taken back.
"""
