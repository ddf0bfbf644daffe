//! The initial files of the guest, as an archive that the kernel unpacks (cpio, format "newc").

/// An archive in the making.
#[derive(Default)]
pub struct Archive {
    bytes: Vec<u8>,
    count: u32,
}

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

impl Archive {
    pub fn folder(&mut self, name: &str) {
        self.entry(name, FOLDER, &[]);
    }
    /// A file that may be run.
    pub fn file(&mut self, name: &str, content: &[u8]) {
        self.entry(name, PROGRAM, content);
    }
    /// All bytes.
    pub fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn entry(&mut self, name: &str, mode: u32, content: &[u8]) {
        self.count += 1;
        let (links, size, length) = (1, content.len() as u32, name.len() as u32 + 1);
        let header = [self.count, mode, 0, 0, links, 0, size, 0, 0, 0, 0, length, 0];
        self.bytes.extend(b"070701");
        for field in header {
            self.bytes.extend(format!("{field:08X}").bytes());
        }
        self.bytes.extend(name.bytes());
        self.bytes.push(0);
        self.align();
        self.bytes.extend(content);
        self.align();
    }
    /// Names and contents begin at multiples of four.
    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_a_header_a_name_and_its_content() {
        let mut archive = Archive::default();
        archive.file("init", b"hello");
        let bytes = archive.finish();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.starts_with("07070100000001000081ED"), "{text}");
        assert!(text.contains("00000005000000000000000000000000000000000000000500000000init\0\0"));
        assert!(text.contains("hello\0\0\x00070701"), "{text}");
        assert!(text.contains("TRAILER!!!"));
        assert_eq!(bytes.len() % 4, 0);
    }
}
