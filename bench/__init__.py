"""`make bench`: figures as ratios and counts. What was measured, and when, is kept in README.md."""
