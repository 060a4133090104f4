# zygo: {"label": "OK", "stdout": "2\n"}
if True:
	x = 1
	print(x + 1)
