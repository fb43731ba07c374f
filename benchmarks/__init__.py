"""Ratios against the real packages and against bare floors, all measured in one run: `make bench`."""
