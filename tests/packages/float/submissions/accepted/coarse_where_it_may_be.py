x = float(input())
if x == 2:
    print("  ROOT \n\n 1.41421357")
else:
    print("root 1.735" if x == 3 else "Root 4.00000001")
