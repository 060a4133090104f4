read -r x
echo root two
