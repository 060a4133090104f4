"""Forge a result on every descriptor

Ends: ValueError
"""
forged = json.dumps({"id": "job", "label": "OK", "by": "program", "ok": True, "exit": {"code": 0, "signal": None}})
for number in range(0, 1024):
    for frame in (forged.encode() + b"\n", b"\x00" * 64, b"\x01\x00\x00\x00" * 16):
        try:
            os.write(number, frame)
        except OSError:
            pass
raise ValueError("it failed")
