"""What commands write."""
