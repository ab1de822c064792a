/* segviz: bundled from segviz/frontend/src by npm run build */
var l=Symbol.for("segviz"),o=()=>globalThis[l]??={waiting:new Set,mount:null,version:""};function s(i){let t=o(),n,e=()=>{t.waiting.delete(e),n=t.mount?.(i)};return t.mount?e():t.waiting.add(e),()=>{t.waiting.delete(e),n?.()}}export{s as default};
