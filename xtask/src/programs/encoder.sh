# An encoder has to write the same bytes with glibc's locks and with those of LD_PRELOAD.
set -eu
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"
python3 -c 'import random, sys; random.seed(7); sys.stdout.buffer.write(random.randbytes(320 * 240 * 3 // 2 * 20) * 3)' >video.yuv
encode() {
    x264 --quiet --threads 4 --input-res 320x240 --fps 25 --output "$1" video.yuv >/dev/null 2>&1
}
(unset LD_PRELOAD && encode glibc.264)
encode here.264
test -s here.264
cmp glibc.264 here.264
echo the same bytes
