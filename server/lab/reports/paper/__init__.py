"""What a paper needs of result sets: tables, figures, data, a methods paragraph, a summary; all from one reading."""
