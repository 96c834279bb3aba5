"""The paper's results on reviews: curves, the table and the histogram of leaders, two reviews in pictures."""
