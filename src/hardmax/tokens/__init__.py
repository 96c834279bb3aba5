"""What comes in: numbers as they are meant, clouds one or many, files that hold them."""
