"""Servers of clusters in one process: what their sessions share, and training on them."""

import socket
import threading

import tensorflow as tf
from recording import case, main, raised


def cluster(**counts):
    """So many tasks of each job, at addresses that nobody has."""
    taken = [socket.socket() for _ in range(sum(counts.values()))]
    for each in taken:
        each.bind(("localhost", 0))
    names = [f"localhost:{each.getsockname()[1]}" for each in taken]
    for each in taken:
        each.close()
    rest = iter(names)
    return tf.train.ClusterSpec(
        {job: [next(rest) for _ in range(counts[job])] for job in sorted(counts)}
    )


def servers(told):
    """A server for each task."""
    tasks = [(job, at) for job in told.jobs for at in range(told.num_tasks(job))]
    return {task: tf.train.Server(told, *task) for task in tasks}


@case
def what_a_server_is():
    server = tf.train.Server.create_local_server(start=False)
    server.start()
    with tf.Session(server.target) as session:
        devices = [each.name for each in session.list_devices() if each.device_type == "CPU"]
        found = session.run(tf.constant(3.0) * 2.0)
    return [server.target[:17], server.server_def.job_name, devices, found]


@case
def values_that_sessions_share():
    server, other = (tf.train.Server.create_local_server() for _ in range(2))
    v = tf.get_variable("v", initializer=1.0)
    w = tf.get_variable("w", initializer=[2.0], use_resource=True)
    queue = tf.FIFOQueue(3, tf.float32, shared_name="queue")
    taken, missing = queue.dequeue(), tf.report_uninitialized_variables()
    first, second = tf.Session(server.target), tf.Session(server.target)
    first.run(tf.global_variables_initializer())
    first.run([tf.assign_add(v, 4.0), tf.assign_add(w, [0.5]), queue.enqueue(7.0)])
    found = [second.run([v, w, taken, missing])]
    first.close()
    with tf.Graph().as_default():
        again = tf.get_variable("v", initializer=9.0)
        with tf.Session(server.target) as third:
            found.append(third.run(again))
    found += [second.run(v), tf.Session(other.target).run(missing)]
    tf.Session.reset(server.target)
    return [*found, tf.Session(server.target).run(missing)]


@case
def runs_that_wait_for_another_session():
    server = tf.train.Server.create_local_server()
    queue = tf.FIFOQueue(3, tf.float32, shared_name="waiting")
    taken, put = queue.dequeue(), queue.enqueue(5.0)
    first, second, third = (tf.Session(server.target) for _ in range(3))
    found = []
    waits = threading.Thread(target=lambda: found.append(first.run(taken)))
    waits.start()
    second.close()
    third.run(put)
    waits.join(20)
    return found


@case
def values_of_one_name_on_several_tasks():
    made, found = servers(cluster(a=1, b=2)), []

    def tried(target, device, names):
        with tf.Graph().as_default(), tf.device(device):
            one = tf.constant(float(len(found)))
            v = tf.get_variable("v", initializer=one, use_resource=False)
            w = tf.get_variable("w", initializer=one, use_resource=True)
            queue = tf.FIFOQueue(9, tf.float32, shared_name="queue")
            words = tf.contrib.lookup.MutableHashTable(tf.string, tf.float32, -1.0, name="words")
            key = tf.constant("a")
            runs = {
                "begin": tf.group(v.initializer, w.initializer), "add": tf.assign_add(v, 0.5),
                "put": queue.enqueue(one), "insert": words.insert(key, one),
                "read": [v, w, queue.size(), words.lookup(key)],
                "missing": tf.report_uninitialized_variables(),
            }  # fmt: skip
            with tf.Session(made[target].target) as session:
                told = [session.run(runs[name]) for name in names.split()]
            found.append([each for each in told if each is not None])

    tried(("b", 0), "/job:b/task:0", "begin put insert read")
    tried(("b", 1), "/job:b/task:1", "missing begin add put put insert read")
    for device in (
        "/job:b/task:0/cpu:0", "/job:b/replica:0/task:1", "/job:b", "/task:1", "/task:1/cpu:0"
    ):  # fmt: skip
        tried(("a", 0), device, "missing read")
    for device in None, "/cpu:0", "/job:a", "/task:0":
        tried(("b", 1), device, "missing")
    return found


@case
def containers_that_are_emptied():
    server = tf.train.Server.create_local_server()
    for name in "", "one", "two":
        with tf.container(name):
            tf.get_variable(f"v{name}", initializer=1.0)
            tf.FIFOQueue(9, tf.float32, shared_name="queue").enqueue(1.0)
    puts = [each for each in tf.get_default_graph().get_operations() if "Enqueue" in each.type]
    missing, found = tf.report_uninitialized_variables(), []
    sizes = [tf.raw_ops.QueueSizeV2(handle=put.inputs[0]) for put in puts]
    for emptied in None, ["one"], [], ["two", "none"]:
        if emptied is not None:
            tf.Session.reset(server.target, emptied)
        with tf.Session(server.target) as session:
            if emptied is None:
                session.run([tf.global_variables_initializer(), puts])
            found.append([session.run(missing), *session.run(sizes)])
    return found


@case
def training_on_tasks():
    told = cluster(ps=1, worker=2)
    made, found = servers(told), {}

    def work(at):
        with tf.Graph().as_default():
            device = f"/job:worker/task:{at}"
            with tf.device(tf.train.replica_device_setter(cluster=told, worker_device=device)):
                w = tf.get_variable("w", initializer=[0.0, 0.0])
                step = tf.train.get_or_create_global_step()
                loss = tf.reduce_sum(tf.square(w - 1.0))
                train = tf.train.GradientDescentOptimizer(0.2).minimize(loss, step)
            target = made["worker", at].target
            hooks = [tf.train.StopAtStepHook(last_step=8)]
            with tf.train.MonitoredTrainingSession(target, at == 0, hooks=hooks) as session:
                while not session.should_stop():
                    session.run(train)
            found[at] = [w.device, loss.device]

    workers = [threading.Thread(target=work, args=[at]) for at in range(2)]
    for each in workers:
        each.start()
    for each in workers:
        each.join(60)
    with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
        w, step = tf.get_variable("w", [2]), tf.train.get_or_create_global_step()
        with tf.Session(made["worker", 0].target) as session:
            after, count = session.run([w, step])
    return [found[0], found[1], after[0] == after[1], 8 <= count < 12, abs(after[0] - 1) < 0.05]


@case
def a_supervised_session():
    server = tf.train.Server.create_local_server()
    v = tf.get_variable("v", initializer=1.0)
    more = tf.assign_add(v, 1.0)
    supervisor = tf.train.Supervisor(is_chief=True, logdir=None)
    with supervisor.managed_session(server.target) as session:
        return [session.run(more), session.run(v)]


@case
def what_is_no_server():
    told, one = cluster(a=2, b=1), tf.constant(1.0)
    calls = [
        lambda: tf.train.Server(told),
        lambda: tf.train.Server(told, "a"),
        lambda: tf.train.Server(told, "c", 0),
        lambda: tf.train.Server(told, "a", 2),
        lambda: tf.Session("local").run(one),
        lambda: tf.Session("nowhere://").run(one),
    ]
    return [[name, text.partition(" options")[0]] for name, text in map(raised, calls)]


if __name__ == "__main__":
    main()
