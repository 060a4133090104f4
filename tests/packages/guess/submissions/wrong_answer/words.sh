echo five hundred
read -r answer
