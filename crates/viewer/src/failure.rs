//! What is said when a request is not answered: an HTTP status, and what would be right.

/// Why a request was not answered.
#[derive(Debug)]
pub struct Failure {
    /// HTTP status.
    pub status: u16,
    /// What was wrong and what would be right.
    pub message: String,
}

impl Failure {
    /// The request was wrong.
    pub fn bad(message: String) -> Failure {
        Failure {
            status: 400,
            message,
        }
    }

    /// Nothing of that name or number is there.
    pub fn not_found(message: String) -> Failure {
        Failure {
            status: 404,
            message,
        }
    }

    /// The answer could not be made.
    pub fn internal(error: &anyhow::Error) -> Failure {
        Failure {
            status: 500,
            message: format!("{error:#}"),
        }
    }
}
