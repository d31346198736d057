"""What is the same for everybody who asks models: how a failed request is read, and when it is tried again."""
