//! One look at the server before the load, so that a wrong port, an untrusted certificate or a
//! server without HTTP/2 is one error and not a million failures.

use crate::Error;
use crate::run::Options;
use crate::scenario::Http;
use crate::trust::Trust;
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, ClientConnection};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(3);

/// Connects; shakes hands only if a certificate or a protocol is to be looked at.
pub(crate) fn probe(
    options: &Options,
    address: SocketAddr,
    tls: Option<&(ClientConfig, ServerName<'static>)>,
) -> Result<(), Error> {
    let unreachable = |source| Error::Unreachable {
        address: address.to_string(),
        source,
    };
    let mut tcp = TcpStream::connect_timeout(&address, PATIENCE).map_err(unreachable)?;
    let Some((config, name)) = tls else {
        return Ok(());
    };
    let two = options.scenario.http == Http::Two;
    if options.trust == Trust::Any && !two {
        return Ok(());
    }
    tcp.set_read_timeout(Some(PATIENCE)).map_err(unreachable)?;
    tcp.set_write_timeout(Some(PATIENCE)).map_err(unreachable)?;
    let setup = |e: rustls::Error| Error::Setup(format!("TLS: {e}"));
    let mut client =
        ClientConnection::new(Arc::new(config.clone()), name.clone()).map_err(setup)?;
    while client.is_handshaking() {
        if let Err(e) = client.complete_io(&mut tcp) {
            let cause = e.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>());
            return match cause {
                Some(rustls::Error::InvalidCertificate(why)) => Err(Error::Untrusted {
                    target: options.target.to_string(),
                    why: words(why),
                }),
                Some(rustls::Error::AlertReceived(
                    rustls::AlertDescription::NoApplicationProtocol,
                )) => Err(no_http2(options)),
                // Whatever else ails it, now or for good, the run itself counts and tells.
                _ => Ok(()),
            };
        }
    }
    if two && client.alpn_protocol() != Some(b"h2") {
        return Err(no_http2(options));
    }
    Ok(())
}

fn no_http2(options: &Options) -> Error {
    Error::Option(format!(
        "{} does not speak HTTP/2 (it did not choose h2 by ALPN); switch it on there, or give --http 1.1",
        options.target
    ))
}

fn words(why: &CertificateError) -> String {
    match why {
        CertificateError::UnknownIssuer => "nobody that is trusted here has signed it".into(),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "it has expired".into()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is for another host name".into()
        }
        CertificateError::Other(e) if format!("{e:?}").contains("CaUsedAsEndEntity") => {
            "it is self-signed".into()
        }
        other => other.to_string(),
    }
}
