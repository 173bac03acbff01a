#pragma once

namespace trainyard::agent {

/// `trainyard agent --server=HOST:PORT --fingerprint=HEX --slot=N --node=NAME --gpus=LIST --dir=DIR`: the
/// process for one slot of a grant, started by a cluster on the slot's node (rules/slurm/batch_script.h,
/// docs/adr/0056-agents.md). Variables: TRAINYARD_TICKET, the grant's secret; TRAINYARD_UNTIL, the time in
/// seconds since 1970 when the cluster ends the slot. Both are removed from the environment at once.
///
/// @return 0: it ended as requested; 75: the server rejects it, or another agent has the slot; 64: the
/// arguments are wrong; 1: it cannot work here. Each status but 0 comes with a line on stderr. Later messages
/// go to the slot's agent.log.
int RunAgent(int argc, char** argv);

}  // namespace trainyard::agent
