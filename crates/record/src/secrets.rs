//! Secrets on a command line do not belong into a trace that is passed on.

/// Parts of an option's name by which its value is a secret.
const SECRET: [&str; 8] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "credential",
    "apikey",
    "api-key",
];
const MASK: &str = "***";

/// The command with the values of such options masked: `-Ddb.password=***`, `--token ***`.
pub fn masked(command: &[String]) -> Vec<String> {
    let mut next_is = false;
    let mask = |word: &String| {
        if std::mem::take(&mut next_is) && !word.starts_with('-') {
            return MASK.to_owned();
        }
        let (name, value) = match word.split_once('=') {
            Some((name, _)) => (name, true),
            None => (word.as_str(), false),
        };
        let lower = name.to_lowercase().replace(['_', '.'], "-");
        let secret = SECRET.iter().any(|s| lower.contains(s));
        if secret && value {
            return format!("{name}={MASK}");
        }
        next_is = secret && word.starts_with("--");
        word.clone()
    };
    command.iter().map(mask).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secrets_are_masked_and_nothing_else() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let given = "java -Xmx1g -Djavax.net.ssl.keyStorePassword=changeit -Dapi_key=1 -jar shop.jar --db.password=x --token abc --port 1 --secret";
        let told = "java -Xmx1g -Djavax.net.ssl.keyStorePassword=*** -Dapi_key=*** -jar shop.jar --db.password=*** --token *** --port 1 --secret";
        assert_eq!(masked(&words(given)), words(told));
    }
}
