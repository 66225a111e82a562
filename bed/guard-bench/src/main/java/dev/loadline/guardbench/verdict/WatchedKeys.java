package dev.loadline.guardbench.verdict;

import java.net.Socket;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import javax.net.ssl.X509ExtendedKeyManager;

/**
 * A key manager that notices when JSSE asks for a certificate, which it does in full handshakes only.
 * A socket's handshake runs in the thread that called it, so a note per thread is a note per connection.
 */
final class WatchedKeys extends X509ExtendedKeyManager {
    private final X509ExtendedKeyManager keys;
    private final ThreadLocal<Boolean> asked = ThreadLocal.withInitial(() -> false);

    WatchedKeys(X509ExtendedKeyManager keys) {
        this.keys = keys;
    }

    /** Before a handshake of this thread. */
    void forget() {
        asked.set(false);
    }

    /** Whether this thread's handshake used the certificate. */
    boolean asked() {
        return asked.get();
    }

    @Override
    public String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
        asked.set(true);
        return keys.chooseServerAlias(keyType, issuers, socket);
    }

    @Override
    public String[] getClientAliases(String keyType, Principal[] issuers) {
        return keys.getClientAliases(keyType, issuers);
    }

    @Override
    public String chooseClientAlias(String[] keyType, Principal[] issuers, Socket socket) {
        return keys.chooseClientAlias(keyType, issuers, socket);
    }

    @Override
    public String[] getServerAliases(String keyType, Principal[] issuers) {
        return keys.getServerAliases(keyType, issuers);
    }

    @Override
    public X509Certificate[] getCertificateChain(String alias) {
        return keys.getCertificateChain(alias);
    }

    @Override
    public PrivateKey getPrivateKey(String alias) {
        return keys.getPrivateKey(alias);
    }
}
