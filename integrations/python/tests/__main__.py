"""Runs all tests: python3 -m tests. The last line counts them."""
import pathlib
import sys
import unittest

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))
done = unittest.TextTestRunner().run(unittest.defaultTestLoader.discover(str(here), top_level_dir=str(here.parent)))
for test, reason in done.skipped:
    print("skipped: %s: %s" % (test, reason))
failed = len(done.failures) + len(done.errors)
print("%d passed, %d failed, %d skipped" % (done.testsRun - failed - len(done.skipped), failed, len(done.skipped)))
sys.exit(not done.wasSuccessful())
