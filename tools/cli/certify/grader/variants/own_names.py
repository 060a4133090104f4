# has names such as check, result and test_data of its own
check = None
result = passed = []
test_data = {"expected": 0}
solution = "a text"
# PROGRAM
