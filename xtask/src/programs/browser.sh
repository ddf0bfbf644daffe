# A browser with its sandbox shows a page, as an ordinary user. The argument is its name.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
# A user who may not read the library would get glibc's locks.
if test -n "${LD_PRELOAD:-}"; then
    cp "$LD_PRELOAD" locks.so
    LD_PRELOAD=$folder/locks.so
fi
cat >page.html <<'PAGE'
<p id="sum"></p>
<script>document.getElementById("sum").textContent = "all " + "there: " + 6 * 7</script>
PAGE
mkdir profile
user=
if test "$(id -u)" = 0; then
    chown -R nobody .
    chmod -R go+rX .
    user='setpriv --reuid=nobody --regid=nogroup --clear-groups'
fi
show() {
    HOME=$folder timeout -k 5 50 $user "$@" "file://$folder/page.html" 2>said || { cat said >&2; exit 1; }
    if grep 'cannot be preloaded' said >&2; then
        exit 1
    fi
}
case $1 in
chromium)
    show chromium --headless --disable-gpu --user-data-dir="$folder/profile" --dump-dom | grep 'all there: 42'
    ;;
firefox-esr)
    show firefox-esr --headless --no-remote --profile "$folder/profile" --window-size=200,100 \
        --screenshot "$folder/picture.png"
    test -s picture.png && echo all there: 42
    ;;
esac
