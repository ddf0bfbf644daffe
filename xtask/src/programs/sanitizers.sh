# Programs with gcc's sanitizers end well, and errors are found. The argument is the folder of the program.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
# AddressSanitizer wants to be the first library otherwise.
export ASAN_OPTIONS=verify_asan_link_order=0
for sanitizer in thread address; do
    (unset LD_PRELOAD && gcc -g -pthread -fsanitize=$sanitizer -o "$folder/$sanitizer" "$1/sanitized.c")
    "$folder/$sanitizer"
done
finds() {
    if "$folder/$1" "$2" 2>"$folder/said"; then
        exit 1
    fi
    grep "$3" "$folder/said"
}
finds thread race 'ThreadSanitizer: data race'
finds address overflow 'AddressSanitizer: heap-buffer-overflow'
echo all is found
