"""Reports of result sets and leaderboards: documents, pages, figures, a site, a board, and what a paper needs."""
