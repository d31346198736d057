"""What is spoken with clients and with upstream servers: messages, tool calls, pipes, and the SDK's private names."""
