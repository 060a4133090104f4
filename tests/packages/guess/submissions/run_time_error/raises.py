raise SystemError("before any guess")
