"""What can be told of a graph without running it; nothing here changes one."""
