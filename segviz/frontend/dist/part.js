/* segviz: bundled from segviz/frontend/src by npm run build */
var l=Symbol.for("segviz"),o=()=>globalThis[l]??={waiting:new Set,mount:null,version:""};function s(i){let t=o(),e,n=()=>{t.waiting.delete(n),e=t.mount?.(i)};return t.mount?n():t.waiting.add(n),()=>{t.waiting.delete(n),e?.()}}export{s as default};
