#pragma once

namespace trainyard::agent {

/// `trainyard agent --server=HOST:PORT --fingerprint=HEX --slot=N --node=NAME --gpus=LIST --dir=DIR`: the
/// process of one slot of a grant, started by a cluster on the slot's node (rules/slurm/batch_script.h,
/// docs/adr/0056-agents.md). Variables: TRAINYARD_TICKET, the grant's secret; TRAINYARD_UNTIL, the time in
/// seconds since 1970 when the cluster ends the slot. Both are removed at once.
///
/// @return 0: it was told to end, and has; 75: the server refuses it, or another agent has the slot; 64: the
/// arguments are wrong; 1: it cannot work here. All but 0 with a line on stderr. What happens later is in
/// the slot's agent.log.
int RunAgent(int argc, char** argv);

}  // namespace trainyard::agent
