read -r a b
