"""Pages in headless Chromium, driven over its pipe; tests that need one are skipped where there is none."""
