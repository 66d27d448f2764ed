"""Files that survive a crash: written whole or not at all, locked between processes, in known folders.

What several formats share, such as the text of a number, is here, too.
"""
