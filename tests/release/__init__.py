"""What is published."""
