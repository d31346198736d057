"""How clients connect: stdio, Streamable HTTP, and the start that answers before the program is loaded."""
