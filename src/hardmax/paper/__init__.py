"""What reproducing the paper is made of: its figures, and answers to what it leaves open."""
