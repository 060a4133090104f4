# has a main guard with a demonstration
# kinds: function class
# PROGRAM


def main():
    print("a demonstration")


if __name__ == "__main__":
    main()
