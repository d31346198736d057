"""Writing in pictures: the programs that read it, and what makes a picture easy to read for them."""
