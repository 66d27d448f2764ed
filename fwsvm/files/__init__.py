"""Files that survive a crash: written whole or not at all, locked between processes, in known folders."""
