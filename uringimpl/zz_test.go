package uringimpl
import ("testing";"runtime";"os/exec";"time";"github.com/zcbench/zcbench/harness/record";"encoding/json";"os";"bytes";"github.com/zcbench/zcbench/harness";"strconv";"fmt";"github.com/zcbench/zcbench/harness/load")
func TestZZDiag(t *testing.T) {
	program := buildC(t)
	for name, w := range compareWorkloads() {
	var cmds [2]*exec.Cmd
	var us, sy [2]time.Duration
	for pair := range 8 {
		tr := newTrial(ringFixed.Name, map[string]string{"chunk": "4KiB"}, w, record.Timing, 100000)
		tr.Seed = uint64(pair)
		tr.CPU, tr.OtherCPU = 0, 1%runtime.NumCPU()
		for i := range 2 {
			side := (i+pair)%2
			runSide(t, tr, func(tr record.Trial) *exec.Cmd {
				if side == 0 {
				text, _ := json.Marshal(tr)
				binary, _ := os.Executable()
				cmd := exec.Command(binary, harness.TrialCommand, tr.ID)
				cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
				cmd.Stdin = bytes.NewReader(text)
				cmds[0] = cmd
				} else {
				var port int
				fmt.Sscanf(tr.Peer.Address, "127.0.0.1:%d", &port)
				cmds[1] = exec.Command(program, strconv.Itoa(port), tr.Peer.Token, strconv.Itoa(w.Clients),
			strconv.FormatUint(tr.Seed, 10), strconv.Itoa(tr.Warmup), strconv.Itoa(tr.Messages), strconv.Itoa(compareChunk),
			strconv.FormatInt(w.BudgetBytes/compareChunk, 10), strconv.Itoa(tr.CPU), strconv.FormatInt(load.Largest(w.Sizes), 10))
				}
				return cmds[side]
			})
			us[side] += cmds[side].ProcessState.UserTime()
			sy[side] += cmds[side].ProcessState.SystemTime()
		}
	}
	t.Log(name, "go user", us[0]/8, "sys", sy[0]/8, "C user", us[1]/8, "sys", sy[1]/8)
	}
}
