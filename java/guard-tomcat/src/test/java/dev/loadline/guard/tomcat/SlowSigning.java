package dev.loadline.guard.tomcat;

import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.PublicKey;
import java.security.Security;
import java.security.Signature;
import java.security.SignatureException;
import java.security.SignatureSpi;
import java.util.concurrent.atomic.AtomicInteger;

/** Signs with ECDSA keys as a machine elsewhere would: it takes a while, and no CPU here. In force until it is closed. */
final class SlowSigning extends Provider implements AutoCloseable {
    private static final long serialVersionUID = 1;
    private static final String ALGORITHM = "SHA256withECDSA";

    private final transient AtomicInteger signing = new AtomicInteger();
    private final transient AtomicInteger mostAtATime = new AtomicInteger();
    private final long millis;

    SlowSigning(long millis) {
        super("SlowSigning", "1", ALGORITHM + " that takes its time");
        this.millis = millis;
        putService(new Service(this, "Signature", ALGORITHM, Slow.class.getName(), null, null) {
            @Override
            public Object newInstance(Object parameter) {
                return new Slow();
            }
        });
        Security.insertProviderAt(this, 1);
    }

    int mostAtATime() {
        return mostAtATime.get();
    }

    @Override
    public void close() {
        Security.removeProvider(getName());
    }

    private final class Slow extends SignatureSpi {
        private Signature real;

        @Override
        protected void engineInitSign(PrivateKey key) throws InvalidKeyException {
            try {
                real = Signature.getInstance(ALGORITHM, "SunEC");
            } catch (GeneralSecurityException e) {
                throw new InvalidKeyException(e);
            }
            real.initSign(key);
        }

        @Override
        protected void engineInitVerify(PublicKey key) throws InvalidKeyException {
            throw new InvalidKeyException("only signs"); // the next provider does
        }

        @Override
        protected void engineUpdate(byte b) throws SignatureException {
            real.update(b);
        }

        @Override
        protected void engineUpdate(byte[] bytes, int from, int length) throws SignatureException {
            real.update(bytes, from, length);
        }

        @Override
        protected byte[] engineSign() throws SignatureException {
            mostAtATime.accumulateAndGet(signing.incrementAndGet(), Math::max);
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new SignatureException(e);
            } finally {
                signing.decrementAndGet();
            }
            return real.sign();
        }

        @Override
        protected boolean engineVerify(byte[] signature) throws SignatureException {
            throw new SignatureException("only signs");
        }

        @Override
        @Deprecated
        protected void engineSetParameter(String name, Object value) {
            throw new UnsupportedOperationException();
        }

        @Override
        @Deprecated
        protected Object engineGetParameter(String name) {
            throw new UnsupportedOperationException();
        }
    }
}
