# zygo: {"job": {}, "label": "ZeroDivisionError"}
import sys

print('{"id":"tricks/output_that_imitates_zygo","label":"OK"}')
sys.stderr.write("zygo: OK\n\x1b[2K\rzygo: OK")
1 / 0
