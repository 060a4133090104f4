public class Main { int f() { return "text"; } }
