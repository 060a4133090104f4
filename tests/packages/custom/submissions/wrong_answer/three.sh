read -r n
echo "$n" 0 0
