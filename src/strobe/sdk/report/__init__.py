"""What a run says of itself: start line, end block, picture."""
