"""Walking in floats under a judge, who says what a contest is worth."""
