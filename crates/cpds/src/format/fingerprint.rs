//! The fingerprint of a problem, which names the problem in evidence.

use super::print_cpds;
use crate::Problem;
use sha2::{Digest as _, Sha256};

impl Problem {
    /// Returns the name of the problem in evidence: a hash of the text of [`print_cpds`], which
    /// does not depend on comments and layout.
    pub fn fingerprint(&self) -> String {
        let digest = Sha256::digest(print_cpds(self));
        digest.iter().fold("sha256:".to_owned(), |text, byte| text + &format!("{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use crate::Problem;
    use sha2::{Digest as _, Sha256};

    #[test]
    fn a_fingerprint_does_not_depend_on_comments_and_layout() {
        let fingerprint = |text: &str| text.parse::<Problem>().unwrap().fingerprint();
        let text = "shared 0 1; init 0|a,-; thread A { symbols a }\nthread B { symbols b }";
        let same = "# the same\nshared 0 1\ninit 0|a,-\nthread A {\n symbols a }\nthread B { symbols b }";
        assert_eq!(fingerprint(same), fingerprint(text));
        assert_ne!(fingerprint(&format!("{text}\nbad *|*,*")), fingerprint(text));
        let of_text = Sha256::digest(b"abc");
        assert_eq!(of_text[..4], [0xba, 0x78, 0x16, 0xbf], "the SHA-256 of `abc`");
        assert_eq!(fingerprint(text).len(), "sha256:".len() + 64);
    }
}
