"""Scales: how answers are made of the linear value, and what one answer tells about it."""
