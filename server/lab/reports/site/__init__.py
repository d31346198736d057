"""Result sets as a website: home, board, sets, runs and tasks. A page is one file and needs no server or network."""
