"""Puts a strategy for one CPU in the place of TensorFlow's TPUStrategy, where the operator chose that for jobs that ask
for a TPU (--accelerator-map TYPE=cpu). sitecustomize.py imports it when TRAINYARD_TPU_AS_CPU is set.

Programs keep their lines: TPUClusterResolver() asks nobody and names this process, for which
experimental_connect_to_cluster has nothing to do; initialize_tpu_system answers a topology with one core; TPUStrategy is
a OneDeviceStrategy. Their names do not begin with TPUStrategy, by which Keras and Estimator recognise the real one and
then run operations that only TPUs have. Works with TensorFlow 1.15 and later.

TensorFlow's modules are changed right after they have been executed, before others copy names out of them; nothing is
imported before the program does.
"""

import sys

_HOST_DEVICE = "/device:CPU:0"


def _sayer():
    said = []

    def say():
        if not said:
            import logging

            said.append(True)
            logging.getLogger("trainyard").warning(
                "This program trains on the CPU in the place of the TPU that the job asks for (--accelerator-map "
                "TYPE=cpu): its TPUStrategy has 1 replica.")

    return say


def _change_resolver(module):
    resolver = module.TPUClusterResolver
    server_lib = sys.modules["tensorflow.python.training.server_lib"]

    def init(self, tpu=None, zone=None, project=None, job_name="worker", *unused, **also_unused):
        self._tpu = "local"
        self.task_type, self.task_id = job_name, 0
        self._coordinator_name = self._coordinator_address = None
        self._environment = ""

    resolver.__init__ = init
    resolver.__enter__ = lambda self: self
    resolver.__exit__ = lambda self, *unused: None
    # A master of the name "" is this process: connect_to_cluster returns at once.
    resolver.master = resolver.get_master = lambda self, *unused, **also_unused: ""
    resolver.get_job_name = lambda self: self.task_type
    resolver.cluster_spec = lambda self: server_lib.ClusterSpec({})
    resolver.num_accelerators = lambda self, *unused, **also_unused: {"TPU": 0}


def _change_system(module):
    def initialize_tpu_system(*unused, **also_unused):
        try:
            return module.topology.Topology(mesh_shape=[1] * 4, device_coordinates=[[[0] * 4]])
        except ValueError:  # TensorFlow 2.2 and older have coordinates of three numbers
            return module.topology.Topology(mesh_shape=[1] * 3, device_coordinates=[[[0] * 3]])

    def shutdown_tpu_system(*unused, **also_unused):
        pass

    for ours in (initialize_tpu_system, shutdown_tpu_system):
        for name in (ours.__name__, ours.__name__ + "_impl"):  # the name since TensorFlow 2.15
            if hasattr(module, name):
                setattr(module, name, ours)


def _change_strategies(module):
    from tensorflow.python.distribute import one_device_strategy

    say = _sayer()

    def cpu_strategy(one_device, also_unused):
        class CpuInPlaceOfTpuStrategy(one_device):
            def __init__(self, tpu_cluster_resolver=None, *unused, **named):
                unknown = set(named) - set(also_unused)
                if unknown:
                    raise TypeError("TPUStrategy has no argument " + ", ".join(sorted(unknown)))
                say()
                super().__init__(_HOST_DEVICE)
                self._tpu_cluster_resolver = tpu_cluster_resolver

            @property
            def cluster_resolver(self):
                return self._tpu_cluster_resolver

        return CpuInPlaceOfTpuStrategy

    arguments = ("device_assignment", "experimental_device_assignment", "experimental_spmd_xla_partitioning",
                 "steps_per_run")
    for name, one_device in (("TPUStrategy", one_device_strategy.OneDeviceStrategy),
                             ("TPUStrategyV2", one_device_strategy.OneDeviceStrategy),
                             ("TPUStrategyV1", one_device_strategy.OneDeviceStrategyV1)):
        if hasattr(module, name):
            setattr(module, name, cpu_strategy(one_device, arguments))


_CHANGES = {
    # Since TensorFlow 2.3 the first one only has a copy of the name.
    "tensorflow.python.distribute.cluster_resolver.tpu_cluster_resolver": _change_resolver,
    "tensorflow.python.distribute.cluster_resolver.tpu.tpu_cluster_resolver": _change_resolver,
    "tensorflow.python.tpu.tpu_strategy_util": _change_system,
    "tensorflow.python.distribute.tpu_strategy": _change_strategies,
}


class _Finder:
    """Lets the other finders find these modules, and has them changed after their code has run."""

    def find_spec(self, name, path=None, target=None):
        change = _CHANGES.get(name)
        if change is None:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                break
        else:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            change(module)

        spec.loader.exec_module = exec_module
        return spec


def install():
    sys.meta_path.insert(0, _Finder())
