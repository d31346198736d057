"""What lies behind the numbers of result sets: why runs failed, which tools were mistaken, what a solved task takes."""
