package dev.loadline.threading.glassfish;

import com.sun.corba.ee.spi.threadpool.ThreadPool;
import com.sun.corba.ee.spi.threadpool.ThreadPoolChooser;
import com.sun.corba.ee.spi.threadpool.ThreadPoolManager;
import java.io.IOException;

/** Gives the broker the one pool that there is, whatever it asks for. */
final class WorkThreadsManager implements ThreadPoolManager {
    private final ThreadPool threads;

    WorkThreadsManager(ThreadPool threads) {
        this.threads = threads;
    }

    @Override
    public ThreadPool getThreadPool(String id) {
        return threads;
    }

    @Override
    public ThreadPool getThreadPool(int id) {
        return threads;
    }

    @Override
    public ThreadPool getDefaultThreadPool() {
        return threads;
    }

    @Override
    public int getThreadPoolNumericId(String id) {
        return 0;
    }

    @Override
    public String getThreadPoolStringId(int id) {
        return threads.getName();
    }

    /** There is nothing to choose. */
    @Override
    public ThreadPoolChooser getThreadPoolChooser(String component) {
        return null;
    }

    @Override
    public ThreadPoolChooser getThreadPoolChooser(int component) {
        return null;
    }

    @Override
    public void setThreadPoolChooser(String component, ThreadPoolChooser chooser) {
        throw new UnsupportedOperationException("one pool serves all components");
    }

    @Override
    public int getThreadPoolChooserNumericId(String component) {
        return 0;
    }

    @Override
    public void close() throws IOException {
        threads.close();
    }
}
